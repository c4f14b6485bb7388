"""What the page shows: answers, people, the schema, the map."""

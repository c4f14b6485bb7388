"""Where rows live: every source answers the same question, and has no way to list its rows."""

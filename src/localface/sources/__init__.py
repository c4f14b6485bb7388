"""Where rows live: what a search may ask of them, what their owner may, how they are kept."""

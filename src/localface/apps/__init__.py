"""Everything around the library: command line, web page, batch runs, plots and files."""

"""Pure vector maths: boxes, segments, the deviation theorem, sets of points."""

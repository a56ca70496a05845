"""What people said about translations (MQM, DA, ESA, rankings, pairs), and how metrics agree with it; no torch."""

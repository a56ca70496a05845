"""What people marked and corrected in translations: a reader for each format, and one record for all."""

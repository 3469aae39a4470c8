"""What the rules of several libraries share."""

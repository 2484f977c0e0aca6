"""What each part does, against arithmetic by hand, specifications and independent readers."""

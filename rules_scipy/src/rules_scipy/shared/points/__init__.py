"""What the rules of points share: slopes of metrics, and quaternions with their adjoints."""

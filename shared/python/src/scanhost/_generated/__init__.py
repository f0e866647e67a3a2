"""Code generated from kernel.proto by shared/python/generate.sh. Never edited."""

"""What users install: wheel, sdist and krew archive, made and installed as users do it."""

"""The five papers that the library is built on: what each of them claims, and what became of it."""

"""Reading source text into trees and writing rewritten trees back as edits on the original bytes. No torch here."""

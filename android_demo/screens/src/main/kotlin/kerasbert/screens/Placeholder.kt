package kerasbert.screens

package kerasbert.app

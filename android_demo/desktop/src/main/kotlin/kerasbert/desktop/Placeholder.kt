package kerasbert.desktop

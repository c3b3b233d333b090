package com.google.ai.edge.litert

from kerasbert.plots.attention_plot import AttentionPlot as AttentionPlot, attention as attention
from kerasbert.plots.changes_plot import Change as Change, ChangesPlot as ChangesPlot, changes as changes
from kerasbert.plots.landscape_plot import LandscapePlot as LandscapePlot, landscape as landscape
from kerasbert.plots.layers_plot import LayersPlot as LayersPlot, layers as layers
from kerasbert.plots.plot import Plot as Plot
from kerasbert.plots.words_plot import WordsPlot as WordsPlot, words as words

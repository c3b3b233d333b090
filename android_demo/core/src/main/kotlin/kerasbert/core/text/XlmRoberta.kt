package kerasbert.core.text

import kerasbert.core.KerasBertException

private const val LETTERS_PER_TOKEN = 4 // only a first guess of the space that tokens need

/**
 * The tokenizer of XLM-RoBERTa (Conneau et al. 2020, arXiv:1911.02116), of multilingual models.
 *
 * Ids and places equal those of `kerasbert.text.XlmRobertaTokenizer`, and so those of Hugging Face's `XLMRobertaTokenizerFast`.
 */
internal class XlmRoberta(settings: TokenizerSettings) : VocabularyTokenizer(settings) {
    override val separators = 2
    override val secondType = 0
    private val map: CharacterMap?
    private val removesSpace: Boolean
    private val pieces: UnigramPieces
    private val finder: TokenFinder

    init {
        settings.checkNames("model", "remove_space")
        val model = SentencePieceModel(settings.text("model") ?: "")
        if (model.pieces.size > vocabulary.size || model.pieces.indices.any { model.pieces[it] != vocabulary[it] }) {
            throw KerasBertException("expected the vocabulary of the SentencePiece model, received another one; convert the model again")
        }
        map = if (model.characterMap.isEmpty()) null else CharacterMap(model.characterMap)
        removesSpace = settings.flag("remove_space", true)
        pieces = UnigramPieces(model)
        // The mask takes the space before it, unless the settings say how it is found.
        val described = settings.addedTokens.map { it.content }
        val found = settings.foundTokens().map { (token, id) ->
            Pair(if (id == maskId && token.content !in described) token.copy(lstrip = true) else token, id)
        }
        found.firstOrNull { it.first.normalized }?.let { (token, _) ->
            throw KerasBertException(
                "expected added tokens that are found in a text as it is, received the normalized '${token.content}', which are not there " +
                    "for XLM-RoBERTa; convert the model without it",
            )
        }
        finder = TokenFinder(found, found.map { it.first.content })
    }

    override fun tokens(text: String): Tokens {
        val tokens = TokenBuffer(text.length / LETTERS_PER_TOKEN + LETTERS_PER_TOKEN)
        val words = UnigramWords(pieces, unkId, tokens)
        finder.split(text, 0, text.length) { id, from, to ->
            if (id >= 0) tokens.add(id, from, to) else splitPart(MappedText.of(text, from, to), words)
        }
        return tokens.toTokens()
    }

    private fun splitPart(part: MappedText, words: UnigramWords) {
        val mapped = map?.let(part::mapped) ?: part
        if (!removesSpace) {
            val text = mapped.withSingleSpaces()
            return splitWord(text, 0, text.size, words)
        }
        var from = 0
        for (place in 0..mapped.size) {
            if (place < mapped.size && !WordCharacters.isWhiteSpace(mapped.codePoint(place))) continue
            splitWord(mapped, from, place, words)
            from = place + 1
        }
    }

    /** Splits a word, or several with spaces between them: each begins with a mark. */
    private fun splitWord(text: MappedText, from: Int, to: Int, words: UnigramWords) {
        if (from == to) return
        val marked = text.marked(from, to)
        var first = 0
        for (place in 1..marked.size) {
            if (place < marked.size && marked.codePoint(place) != MappedText.MARK) continue
            words.split(marked, first, place)
            first = place
        }
    }
}

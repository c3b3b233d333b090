package kerasbert.core.text

import kerasbert.core.KerasBertException

/**
 * The tokenizer of Japanese BERT checkpoints whose subwords are characters; see `kerasbert.text.JapaneseTokenizer` in Python.
 *
 * Python splits a text into words with MeCab first. For characters, words only matter for what they leave out, so no dictionary is needed
 * here: MeCab drops tabs, line feeds, vertical tabs and spaces of the text in Unicode form NFKC, and ends it at a NUL. Ids and places are
 * equal, but for two kinds of texts:
 * - With `lowercase`, Python lowercases whole words: a capital sigma at the end of a Greek word becomes a final one. Here it is an ordinary
 *   one, since the ends of words are MeCab's.
 * - White space of 65,534 bytes or more in a row, of which MeCab loses count. Here it is dropped as all other.
 */
internal class JapaneseCharacters(settings: TokenizerSettings) : VocabularyTokenizer(settings) {
    private val ids: CodePointMap
    private val lowercase: Boolean
    private val finder: TokenFinder

    init {
        settings.checkNames("subwords", "lowercase", "dictionary")
        val subwords = settings.text("subwords") ?: "wordpiece"
        if (subwords != "character") {
            throw KerasBertException(
                "expected a Japanese tokenizer with characters as subwords, received subwords '$subwords', which need MeCab; this app has " +
                    "none, so convert a model with a character vocabulary",
            )
        }
        lowercase = settings.flag("lowercase", false)
        val characters = vocabulary.indices.filter { vocabulary[it].isNotEmpty() && isOneCharacter(vocabulary[it]) }
        ids = CodePointMap(characters.size)
        for (id in characters) ids[vocabulary[id].codePointAt(0)] = id
        val found = settings.foundTokens().map { (token, id) -> Pair(AddedToken(token.content), id) } // their flags are ignored
        finder = TokenFinder(found, found.map { it.first.content })
    }

    override fun tokens(text: String): Tokens {
        val tokens = TokenBuffer(text.length + 1)
        finder.split(text, 0, text.length) { id, from, to ->
            if (id >= 0) tokens.add(id, from, to) else characters(text, from, to, tokens)
        }
        return tokens.toTokens()
    }

    private fun characters(text: String, from: Int, to: Int, tokens: TokenBuffer) {
        var isOver = false
        Nfkc.normalize(text, from, to) { codePoint, start, end ->
            isOver = isOver || codePoint == 0
            if (!isOver && !isDropped(codePoint)) {
                if (lowercase) lower(codePoint, start, end, tokens) else add(codePoint, start, end, tokens)
            }
        }
    }

    private fun lower(codePoint: Int, start: Int, end: Int, tokens: TokenBuffer) {
        val place = if (NfkcData.isLoweredByPython(codePoint)) Characters.lower.find(codePoint) else -1
        if (place < 0) return add(codePoint, start, end, tokens)
        for (number in 0 until Characters.lower.count(place)) add(Characters.lower.part(place, number), start, end, tokens)
    }

    private fun add(codePoint: Int, start: Int, end: Int, tokens: TokenBuffer) {
        val id = ids[codePoint]
        tokens.add(if (id >= 0) id else unkId, start, end)
    }

    private fun isDropped(codePoint: Int): Boolean = codePoint in 0x9..0xB || codePoint == ' '.code

    private fun isOneCharacter(token: String): Boolean = token.length == Character.charCount(token.codePointAt(0))
}

package kerasbert.core.text

/** The part of a tokenizer that depends on its vocabulary and special tokens only. */
internal abstract class VocabularyTokenizer(settings: TokenizerSettings) : Tokenizer {
    final override val vocabulary: List<String> = settings.vocabulary
    final override val padId: Int = settings.specialId("pad_token")
    final override val unkId: Int = settings.specialId("unk_token")
    final override val clsId: Int = settings.specialId("cls_token")
    final override val sepId: Int = settings.specialId("sep_token")
    final override val maskId: Int = settings.specialId("mask_token")
    final override val maxLength: Int? = settings.maxLength
}

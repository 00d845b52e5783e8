import PatchbayJSON

extension JSONTestSuiteRow {
    /// Texts that a reader may accept or reject (`i_`), with our decision: numbers of any size are kept as text; half a
    /// surrogate pair, bytes that are not UTF-8, UTF-16 and a byte-order mark are refused.
    static let eitherWay: [JSONTestSuiteRow] = [
        .init("i_number_double_huge_neg_exp", "[123.456e-789]"),
        .init(
            "i_number_huge_exp",
            "[0.4e00669999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999999969999999006]"
        ),
        .init("i_number_neg_int_huge_exp", "[-1e+9999]"),
        .init("i_number_pos_double_huge_exp", "[1.5e+9999]"),
        .init("i_number_real_neg_overflow", "[-123123e100000]"),
        .init("i_number_real_pos_overflow", "[123123e100000]"),
        .init("i_number_real_underflow", "[123e-10000000]"),
        .init("i_number_too_big_neg_int", "[-123123123123123123123123123123]"),
        .init("i_number_too_big_pos_int", "[100000000000000000000]"),
        .init("i_number_very_big_negative_int", "[-237462374673276894279832749832423479823246327846]"),
        .init("i_object_key_lone_2nd_surrogate", #"{"\uDFAA":0}"#, .loneSurrogate),
        .init("i_string_1st_surrogate_but_2nd_missing", #"["\uDADA"]"#, .loneSurrogate),
        .init("i_string_1st_valid_surrogate_2nd_invalid", #"["\uD888\u1234"]"#, .loneSurrogate),
        .init(
            "i_string_UTF-16LE_with_BOM",
            bytes: [0xFF, 0xFE, 0x5B, 0x00, 0x22, 0x00, 0xE9, 0x00, 0x22, 0x00, 0x5D, 0x00],
            .unexpectedByte
        ),
        .init(
            "i_string_UTF-8_invalid_sequence",
            bytes: [0x5B, 0x22, 0xE6, 0x97, 0xA5, 0xD1, 0x88, 0xFA, 0x22, 0x5D],
            .invalidUTF8
        ),
        .init("i_string_UTF8_surrogate_U+D800", bytes: [0x5B, 0x22, 0xED, 0xA0, 0x80, 0x22, 0x5D], .invalidUTF8),
        .init("i_string_incomplete_surrogate_and_escape_valid", #"["\uD800\n"]"#, .loneSurrogate),
        .init("i_string_incomplete_surrogate_pair", #"["\uDd1ea"]"#, .loneSurrogate),
        .init("i_string_incomplete_surrogates_escape_valid", #"["\uD800\uD800\n"]"#, .loneSurrogate),
        .init("i_string_invalid_lonely_surrogate", #"["\ud800"]"#, .loneSurrogate),
        .init("i_string_invalid_surrogate", #"["\ud800abc"]"#, .loneSurrogate),
        .init("i_string_invalid_utf-8", bytes: [0x5B, 0x22, 0xFF, 0x22, 0x5D], .invalidUTF8),
        .init("i_string_inverted_surrogates_U+1D11E", #"["\uDd1e\uD834"]"#, .loneSurrogate),
        .init("i_string_iso_latin_1", bytes: [0x5B, 0x22, 0xE9, 0x22, 0x5D], .invalidUTF8),
        .init("i_string_lone_second_surrogate", #"["\uDFAA"]"#, .loneSurrogate),
        .init("i_string_lone_utf8_continuation_byte", bytes: [0x5B, 0x22, 0x81, 0x22, 0x5D], .invalidUTF8),
        .init("i_string_not_in_unicode_range", bytes: [0x5B, 0x22, 0xF4, 0xBF, 0xBF, 0xBF, 0x22, 0x5D], .invalidUTF8),
        .init("i_string_overlong_sequence_2_bytes", bytes: [0x5B, 0x22, 0xC0, 0xAF, 0x22, 0x5D], .invalidUTF8),
        .init(
            "i_string_overlong_sequence_6_bytes",
            bytes: [0x5B, 0x22, 0xFC, 0x83, 0xBF, 0xBF, 0xBF, 0xBF, 0x22, 0x5D],
            .invalidUTF8
        ),
        .init(
            "i_string_overlong_sequence_6_bytes_null",
            bytes: [0x5B, 0x22, 0xFC, 0x80, 0x80, 0x80, 0x80, 0x80, 0x22, 0x5D],
            .invalidUTF8
        ),
        .init("i_string_truncated-utf-8", bytes: [0x5B, 0x22, 0xE0, 0xFF, 0x22, 0x5D], .invalidUTF8),
        .init(
            "i_string_utf16BE_no_BOM",
            bytes: [0x00, 0x5B, 0x00, 0x22, 0x00, 0xE9, 0x00, 0x22, 0x00, 0x5D],
            .unexpectedByte
        ),
        .init(
            "i_string_utf16LE_no_BOM",
            bytes: [0x5B, 0x00, 0x22, 0x00, 0xE9, 0x00, 0x22, 0x00, 0x5D, 0x00],
            .unexpectedByte
        ),
        .init("i_structure_500_nested_arrays", String(repeating: "[", count: 500) + String(repeating: "]", count: 500)),
        .init("i_structure_UTF-8_BOM_empty_object", bytes: [0xEF, 0xBB, 0xBF, 0x7B, 0x7D], .unexpectedByte),
    ]
}

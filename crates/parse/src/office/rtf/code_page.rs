//! Code pages: the numbers by which Windows, DOS and the Macintosh call encodings.
use encoding_rs::{Encoding, WINDOWS_1252};

/// How bytes become characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CodePage {
    Standard(&'static Encoding),
    /// The characters of the bytes from 128 on.
    Table(&'static str),
}

/// Western Europe: what is meant where no code page is named.
pub(crate) const WESTERN: CodePage = CodePage::Standard(WINDOWS_1252);

/// Code pages that have other names on the web.
#[rustfmt::skip]
const NAMES: &[(i64, &str)] = &[
    (819, "latin1"), (866, "ibm866"), (932, "shift_jis"), (936, "gbk"), (950, "big5"),
    (10_000, "macintosh"), (10_001, "shift_jis"), (10_002, "big5"), (10_003, "euc-kr"),
    (10_007, "x-mac-cyrillic"), (10_008, "gbk"), (10_017, "x-mac-cyrillic"), (20_127, "ascii"),
    (20_866, "koi8-r"), (20_932, "euc-jp"), (21_866, "koi8-u"), (50_220, "iso-2022-jp"),
    (51_932, "euc-jp"), (54_936, "gb18030"), (65_001, "utf-8"),
];

/// Code pages that the web does not use: of DOS, then of the Macintosh.
#[rustfmt::skip]
const TABLES: &[(i64, &str)] = &[
    (437, "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{a0}"),
    (850, "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u{ad}±‗¾¶§÷¸°¨·¹³²■\u{a0}"),
    (852, "ÇüéâäůćçłëŐőîŹÄĆÉĹĺôöĽľŚśÖÜŤťŁ×čáíóúĄąŽžĘę¬źČş«»░▒▓│┤ÁÂĚŞ╣║╗╝Żż┐└┴┬├─┼Ăă╚╔╩╦╠═╬¤đĐĎËďŇÍÎě┘┌█▄ŢŮ▀ÓßÔŃńňŠšŔÚŕŰýÝţ´\u{ad}˝˛ˇ˘§÷¸°¨˙űŘř■\u{a0}"),
    (10_006, "Ä¹²É³ÖÜ΅àâä΄¨çéèêë£™îï•½‰ôö¦€ùûü†ΓΔΘΛΞΠß®©ΣΪ§≠°·Α±≤≥¥ΒΕΖΗΙΚΜΦΫΨΩάΝ¬ΟΡ≈Τ«»…\u{a0}ΥΧΆΈœ–―“”‘’÷ΉΊΌΎέήίόΏύαβψδεφγηιξκλμνοπώρστθωςχυζϊϋΐΰ\u{ad}"),
    (10_029, "ÄĀāÉĄÖÜáąČäčĆćéŹźĎíďĒēĖóėôöõúĚěü†°Ę£§•¶ß®©™ę¨≠ģĮįĪ≤≥īĶ∂∑łĻļĽľĹĺŅņŃ¬√ńŇ∆«»…\u{a0}ňŐÕőŌ–—“”‘’÷◊ōŔŕŘ‹›řŖŗŠ‚„šŚśÁŤťÍŽžŪÓÔūŮÚůŰűŲųÝýķŻŁżĢˇ"),
    (10_081, "ÄÅÇÉÑÖÜáàâäãåçéèêëíìîïñóòôöõúùûü†°¢£§•¶ß®©™´¨≠ÆØ∞±≤≥¥µ∂∑∏π∫ªºΩæø¿¡¬√ƒ≈∆«»…\u{a0}ÀÃÕŒœ–—“”‘’÷◊ÿŸĞğİıŞş‡·‚„‰ÂÊÁËÈÍÎÏÌÓÔ\u{f8ff}ÒÚÛÙ\u{f8a0}ˆ˜¯˘˙˚¸˝˛ˇ"),
];

/// Character sets of fonts (`\fcharset`) with their code pages.
#[rustfmt::skip]
const CHARSETS: &[(i64, i64)] = &[
    (0, 1_252), (77, 10_000), (78, 10_001), (79, 10_003), (80, 10_008), (81, 10_002), (83, 10_005),
    (84, 10_004), (85, 10_006), (86, 10_081), (87, 10_021), (88, 10_029), (89, 10_007), (128, 932),
    (129, 949), (130, 1_361), (134, 936), (136, 950), (161, 1_253), (162, 1_254), (163, 1_258),
    (177, 1_255), (178, 1_256), (186, 1_257), (204, 1_251), (222, 874), (238, 1_250), (254, 437),
    (255, 850),
];

/// What a list says of a number.
fn entry<T: Copy>(list: &[(i64, T)], number: i64) -> Option<T> {
    list.iter().find(|(at, _)| *at == number).map(|(_, value)| *value)
}

impl CodePage {
    /// Of one that is not read, only ASCII is.
    pub(crate) fn for_number(number: i64) -> Self {
        let label = match number {
            28_591..=28_605 => format!("iso-8859-{}", number - 28_590),
            _ => entry(NAMES, number).map_or_else(|| format!("windows-{number}"), str::to_owned),
        };
        let table = || Self::Table(entry(TABLES, number).unwrap_or_default());
        Encoding::for_label(label.as_bytes()).map_or_else(table, Self::Standard)
    }

    /// That of a font's character set; `None` for those that leave it to the document.
    pub(super) fn for_charset(charset: i64) -> Option<Self> {
        entry(CHARSETS, charset).map(Self::for_number)
    }

    /// What it does not have becomes U+FFFD.
    pub(crate) fn decode(self, bytes: &[u8]) -> String {
        let characters = match self {
            Self::Standard(encoding) => {
                return encoding.decode_without_bom_handling(bytes).0.into_owned();
            }
            Self::Table(characters) => characters,
        };
        let high = |at| characters.chars().nth(usize::from(at));
        let character = |byte: &u8| match byte.checked_sub(128) {
            None => char::from(*byte),
            Some(at) => high(at).unwrap_or(char::REPLACEMENT_CHARACTER),
        };
        bytes.iter().map(character).collect()
    }
}

/// Letters without the accents that `LetterTable` leaves them: it knows those of Latin letters only.
///
/// Greek, Cyrillic and Arabic letters become their base letters; marks that may be written or left out,
/// as the vowels of Hebrew and Arabic, go. Marks that are part of a word's spelling, as in Devanagari or
/// Thai, stay.
enum PlainLetters {
    static func isAccent(_ value: UInt32) -> Bool {
        switch value {
        case 0x0300...0x036F, 0x1DC0...0x1DFF, 0xFE20...0xFE2F: true
        // Cyrillic, Hebrew, Arabic.
        case 0x0483...0x0487, 0x0591...0x05BD, 0x05BF, 0x05C1, 0x05C2, 0x05C4, 0x05C5, 0x05C7: true
        case 0x0610...0x061A, 0x064B...0x065F, 0x0670, 0x06D6...0x06DC, 0x06DF...0x06E4: true
        case 0x06E7, 0x06E8, 0x06EA...0x06ED: true
        // How the character before is to be drawn.
        case 0xFE00...0xFE0F, 0xE0100...0xE01EF: true
        default: false
        }
    }

    static func base(of scalar: Unicode.Scalar) -> Unicode.Scalar {
        switch scalar.value {
        case 0x0386...0x06D3: letters[scalar] ?? scalar
        case 0x1F00...0x1FFC: greek(scalar)
        default: scalar
        }
    }

    private static let letters: [Unicode.Scalar: Unicode.Scalar] = {
        let accented =
            "ΆΈΉΊΌΎΏΐΪΫάέήίΰϊϋόύώЀЁЃЇЌЍЎЙйѐёѓїќѝўѶѷӁӂӐӑӒӓӖӗӚӛӜӝӞӟӢӣӤӥӦӧӪӫӬӭӮӯӰӱӲӳӴӵӸӹآأؤإئۀۂۓ"
        let plain =
            "ΑΕΗΙΟΥΩιΙΥαεηιυιυουωЕЕГІКИУИиеегікиуѴѵЖжАаАаЕеӘәЖжЗзИиИиОоӨөЭэУуУуУуЧчЫыااوايەہے"
        return Dictionary(
            zip(accented.unicodeScalars, plain.unicodeScalars), uniquingKeysWith: { $1 })
    }()

    /// The base of a letter of polytonic Greek, whose letters lie in groups.
    private static func greek(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        switch scalar.value {
        case 0x1F00...0x1F0F, 0x1F70...0x1F71, 0x1F80...0x1F8F, 0x1FB0...0x1FBC: "α"
        case 0x1F10...0x1F1D, 0x1F72...0x1F73, 0x1FC8...0x1FC9: "ε"
        case 0x1F20...0x1F2F, 0x1F74...0x1F75, 0x1F90...0x1F9F, 0x1FC2...0x1FC7, 0x1FCA...0x1FCC:
            "η"
        case 0x1F30...0x1F3F, 0x1F76...0x1F77, 0x1FBE, 0x1FD0...0x1FDB: "ι"
        case 0x1F40...0x1F4D, 0x1F78...0x1F79, 0x1FF8...0x1FF9: "ο"
        case 0x1F50...0x1F5F, 0x1F7A...0x1F7B, 0x1FE0...0x1FE3, 0x1FE6...0x1FEB: "υ"
        case 0x1F60...0x1F6F, 0x1F7C...0x1F7D, 0x1FA0...0x1FAF, 0x1FF2...0x1FF7, 0x1FFA...0x1FFC:
            "ω"
        case 0x1FE4...0x1FE5, 0x1FEC: "ρ"
        default: scalar
        }
    }
}

/** Control, escape and direction characters, which could fake what a log shows; new line and tab are none of them. */
const harmful = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu;

/** Makes harmful characters visible as ‹U+001B›; Windows line ends become plain ones. */
export const visibleControls = (text: string): string =>
  text
    .replaceAll('\r\n', '\n')
    .replace(harmful, (character) =>
      character === '\n' || character === '\t'
        ? character
        : `‹U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}›`,
    );

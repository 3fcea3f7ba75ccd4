/** What a secret is replaced with. */
export const MASK = '[secret]';

/** One kind of secret and how it looks in text. `mask` says what stays of a match; without it nothing does. */
interface SecretPattern {
  readonly pattern: RegExp;
  /** Words of which a text must hold one (lower case) to be looked at at all. */
  readonly hints: readonly string[];
  readonly mask?: (match: string, ...groups: string[]) => string;
}

const NAME = String.raw`[\w.-]{0,64}?(?:(?:api|access|account|encryption|master|shared|signing)[_-]?key|secret(?:[_-]?key)?|private[_-]?key|auth[_-]?token|access[_-]?token|refresh[_-]?token|client[_-]?secret|token|password|passwd|passphrase|pwd|credentials?)`;
const NAME_HINTS = ['key', 'secret', 'token', 'passw', 'passphrase', 'pwd', 'credential'];

const PATTERNS: readonly SecretPattern[] = [
  {
    // A key block, whole or cut off at the end of the text.
    pattern: /-----BEGIN (?:[A-Z ]+ )?PRIVATE KEY-----[\s\S]*?(?:-----END (?:[A-Z ]+ )?PRIVATE KEY-----|$)/g,
    hints: ['private key'],
  },
  {
    pattern:
      /\b(authorization|proxy-authorization)(["']?\s*[:=]\s*["']?)(bearer|basic|digest|token|negotiate)?\s*[^\s"',;]+/gi,
    hints: ['authorization'],
    mask: (_match, name, separator, scheme) => `${name}${separator}${scheme === undefined ? '' : `${scheme} `}${MASK}`,
  },
  {
    pattern: /\b(x-api-key|x-goog-api-key|api-key|x-auth-token)(["']?\s*[:=]\s*["']?)[^\s"',;]+/gi,
    hints: ['-key', 'auth-token'],
    mask: (_match, name, separator) => `${name}${separator}${MASK}`,
  },
  {
    pattern: /\b(bearer|basic)(\s+)(?=[\w+/=.~-]*[\d+/=._-])[\w+/=.~-]{8,}/gi,
    hints: ['bearer', 'basic'],
    mask: (_match, scheme, space) => `${scheme}${space}${MASK}`,
  },
  {
    pattern: /\b(set-cookie|cookie)(["']?\s*:\s*["']?)[^\r\n"']+/gi,
    hints: ['cookie'],
    mask: (_match, name, separator) => `${name}${separator}${MASK}`,
  },
  {
    // Keys of providers and services, recognised by how they start.
    pattern:
      /(?<![A-Za-z0-9])(?:sk-[\w-]{16,}|(?:sk|rk|pk|whsec)_(?:live|test)_\w{12,}|AIza[\w-]{30,}|gsk_\w{20,}|GOCSPX-[\w-]{16,}|xai-\w{20,}|hf_\w{20,}|r8_\w{20,}|pplx-\w{20,}|gh[pousr]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|xox[abeprs]-[\w-]{10,}|xapp-[\w-]{10,}|npm_\w{30,}|pypi-[\w-]{30,}|dop_v1_\w{30,}|SG\.[\w-]{16,}\.[\w-]{16,}|shpat_\w{20,}|lin_api_\w{20,}|(?:AKIA|ASIA)[A-Z0-9]{16}|ya29\.[\w-]{20,}|eyJ[\w-]{8,}\.eyJ[\w-]{8,}(?:\.[\w-]*)?)/g,
    hints: [
      'sk-',
      'sk_',
      'rk_',
      'pk_',
      'whsec',
      'aiza',
      'gocspx',
      'xai-',
      'hf_',
      'r8_',
      'pplx-',
      'ghp_',
      'gho_',
      'ghu_',
      'ghs_',
      'ghr_',
      'github_pat',
      'glpat',
      'xox',
      'xapp',
      'npm_',
      'pypi',
      'dop_',
      'sg.',
      'shpat',
      'lin_',
      'akia',
      'asia',
      'ya29',
      'eyj',
    ],
  },
  {
    // An incoming-webhook address is itself the secret.
    pattern: /(https:\/\/(?:hooks\.slack\.com\/services|discord(?:app)?\.com\/api\/webhooks))\/[\w/-]+/gi,
    hints: ['hooks.slack', '/api/webhooks'],
    mask: (_match, address) => `${address}/${MASK}`,
  },
  {
    // name:password@host in an address
    pattern: /\b([a-z][a-z0-9+.-]*:\/\/)[^\s/@"'<>]+@/gi,
    hints: ['://'],
    mask: (_match, scheme) => `${scheme}${MASK}@`,
  },
  {
    // An environment variable: upper-case name, no space around the sign.
    pattern:
      /(?<![\w-])([A-Z][A-Z0-9_]*(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PWD|CREDENTIALS?|PASS)(?:_[A-Z0-9]+)?=)("[^"\n]+"?|'[^'\n]+'?|[^\s"'`;&|]+)/g,
    hints: [
      'key=',
      'token=',
      'secret=',
      'password=',
      'passwd=',
      'pwd=',
      'credential',
      'pass=',
      'key_',
      'token_',
      'secret_',
      'password_',
      'passwd_',
      'pwd_',
      'pass_',
    ],
    mask: (match, name, value) => (isHarmless(name, value) ? match : `${name}${MASK}`),
  },
  {
    // A quoted value: password: "..." / "apiKey": "..." / secret = '...'
    pattern: new RegExp(
      String.raw`(?<![\w-])(\\?["']?${NAME}\\?["']?\s*(?::|=>?|:=)\s*)(\\?["'\`])([^"'\`\s\\]{6,})\\?["'\`]?`,
      'gi',
    ),
    hints: NAME_HINTS,
    mask: (match, name, quote, value) => (isHarmless(name, value) ? match : `${name}${quote}${MASK}${quote}`),
  },
  {
    // A bare value that looks made by a machine or typed as a password: letters and digits mixed, and no code behind it.
    pattern: new RegExp(String.raw`(?<![\w-])(["']?${NAME}["']?\s*[:=]\s*)([^\s"'\`;,(){}[\]<>]{6,})(?![\w(.[])`, 'gi'),
    hints: NAME_HINTS,
    mask: (match, name, value) => (isMixed(value) || isNumericPassword(name, value) ? `${name}${MASK}` : match),
  },
  {
    // A command-line option: --password x, --token=x, -u user:password of curl
    pattern: new RegExp(String.raw`(?<=^|\s)(--${NAME}[=\s]\s*)("[^"\n]+"|'[^'\n]+'|[^\s"'-][^\s"']*)`, 'gi'),
    hints: [
      '-key',
      '-token',
      '-secret',
      '-pass',
      '-pwd',
      '-cred',
      '-auth',
      '-access',
      '-client',
      '-refresh',
      '-private',
      '-api',
    ],
    mask: (match, name, value) => (isHarmless(name, value) ? match : `${name}${MASK}`),
  },
  {
    pattern: /\b(curl\b[^\n]{0,400}?\s(?:-u|--user)\s+)(["']?)[^\s"':]+:[^\s"']+\2/g,
    hints: ['curl'],
    mask: (_match, command) => `${command}${MASK}`,
  },
];

/** Values that say nothing: numbers (limits, counts), placeholders, references to where the secret is. */
const HARMLESS =
  /^(?:\d{1,9}|true|false|null|none|undefined|\[secret\]|<[^>]*>|\*+|x{3,}|\.{3,}|\$\{?\w+\}?[.,!]?|\$\(.*|%\w+%|process\.env\.\w+|\{\{.*)$/i;

function isHarmlessValue(value: string): boolean {
  return HARMLESS.test(value.replace(/^["']|["']$/g, ''));
}

function isMixed(value: string): boolean {
  return (
    !isHarmlessValue(value) && /\d/.test(value) && /[A-Za-z]/.test(value) && !/^[\w-]+(?:\.[A-Za-z_]\w*)+$/.test(value)
  );
}

function isHarmless(name: string, value: string): boolean {
  return isHarmlessValue(value) && !isNumericPassword(name, value);
}

/** A number is a count for tokens and keys, but it may well be a password. */
function isNumericPassword(name: string, value: string): boolean {
  return /pass|pwd|secret|credential/i.test(name) && /^\d{4,}$/.test(value);
}

/** Replaces secrets in a text by `[secret]`, calling `onMasked` for each. */
export type SecretRedactor = (text: string, onMasked: () => void) => string;

/** Every hint once. Most texts hold none, which one pass shows; the others are searched for each. */
const HINTS: readonly string[] = [...new Set(PATTERNS.flatMap(({ hints }) => hints))];
const ANY_HINT = new RegExp(HINTS.map((hint) => hint.replaceAll('.', String.raw`\.`)).join('|'));

/** @param knownSecrets values to mask wherever they stand, such as the agent's own keys; shorter than 8 characters are left out. */
export function createSecretRedactor(knownSecrets: readonly string[]): SecretRedactor {
  const known = knownSecrets.filter((secret) => secret.length >= 8);
  return (text, onMasked) => {
    const withoutKnown = known.reduce((rest, secret) => maskKnown(rest, secret, onMasked), text);
    const lower = withoutKnown.toLowerCase();
    if (!ANY_HINT.test(lower)) return withoutKnown;
    const found = new Set(HINTS.filter((hint) => lower.includes(hint)));
    return PATTERNS.reduce(
      (rest, pattern) => (pattern.hints.some((hint) => found.has(hint)) ? maskPattern(rest, pattern, onMasked) : rest),
      withoutKnown,
    );
  };
}

function maskKnown(text: string, secret: string, onMasked: () => void): string {
  if (!text.includes(secret)) return text;
  return text.replaceAll(secret, () => {
    onMasked();
    return MASK;
  });
}

function maskPattern(text: string, { pattern, mask }: SecretPattern, onMasked: () => void): string {
  return text.replace(pattern, (match: string, ...groups: string[]) => {
    const masked = mask === undefined ? MASK : mask(match, ...groups);
    if (masked !== match) onMasked();
    return masked;
  });
}

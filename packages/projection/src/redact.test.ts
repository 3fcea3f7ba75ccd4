import { expect, test } from 'vitest';
import { createRedactor } from './redact.js';

const letters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';
/** A made-up secret: random, so that no pattern can know it, with a digit so that it looks like one. */
function madeUp(length: number): string {
  const text = Array.from({ length: length - 2 }, () => letters[Math.floor(Math.random() * letters.length)]).join('');
  return `${text}x7`;
}

const WORKSPACE = '/home/ann/projects/app';
const redact = (text: string, knownSecrets: readonly string[] = []): string =>
  createRedactor({ workspaceRoot: WORKSPACE, knownSecrets, privateRoots: ['/data/stint'] }).redact(text);

const SECRETS: readonly (readonly [string, (secret: string) => string, number])[] = [
  ['a key of a provider', (s) => `the key sk-${s} does not work`, 40],
  ['a key of another provider', (s) => `ANTHROPIC uses sk-ant-api03-${s}`, 60],
  ['a project key', (s) => `sk-proj-${s}`, 48],
  ['a key that starts with AIza', (s) => `AIza${s}`, 35],
  ['a personal access token', (s) => `git clone with ghp_${s}`, 36],
  ['a fine-grained token', (s) => `github_pat_${s}`, 60],
  ['a chat token', (s) => `xoxb-${s}`, 30],
  ['a package registry token', (s) => `npm_${s}`, 36],
  ['a live payment key', (s) => `sk_live_${s}`, 24],
  ['a bearer header', (s) => `Authorization: Bearer ${s}`, 30],
  ['a bearer header in JSON', (s) => `{"authorization":"Bearer ${s}"}`, 30],
  ['basic credentials', (s) => `authorization: Basic ${s}==`, 24],
  ['a bare bearer token', (s) => `curl -H 'Bearer ${s}'`, 24],
  ['an API key header', (s) => `x-api-key: ${s}`, 24],
  ['a cookie', (s) => `Cookie: theme=dark; session=${s}`, 24],
  ['a set-cookie', (s) => `set-cookie: sid=${s}; HttpOnly`, 24],
  ['an environment variable', (s) => `OPENAI_API_KEY=${s} node app.js`, 20],
  ['an exported variable in quotes', (s) => `export DB_PASSWORD="${s}"`, 12],
  ['a variable with an ending', (s) => `AWS_SECRET_ACCESS_KEY_ID=${s}`, 24],
  ['a field of JSON', (s) => `{"apiKey": "${s}"}`, 20],
  ['a field of escaped JSON', (s) => `{\\"api_key\\": \\"${s}\\"}`, 20],
  ['a storage account key', (s) => `AccountName=x;AccountKey=${s}==;EndpointSuffix=y`, 40],
  ['a signing key', (s) => `signing-key: ${s}`, 24],
  ['an OAuth client secret', (s) => `GOCSPX-${s}`, 28],
  ['a field of YAML', (s) => `db:\n  password: ${s}\n`, 14],
  ['an assignment in code', (s) => `const clientSecret = '${s}';`, 20],
  ['a password in a connection address', (s) => `postgres://ann:${s}@db.example/app`, 16],
  ['a token in place of a user', (s) => `https://${s}@git.example/a.git`, 30],
  ['a query', (s) => `GET https://api.example/v1/x?signature=${s}&n=1 failed`, 30],
  ['a fragment', (s) => `http://127.0.0.1:4000/#ticket=${s}`, 30],
  ['an option of a command', (s) => `deploy --token ${s} --verbose`, 20],
  ['an option with a sign', (s) => `deploy --password=${s}`, 12],
  ['curl credentials', (s) => `curl -s -u ann:${s} https://api.example/v1`, 16],
  ['a web token', (s) => `eyJhbGciOiJI.eyJ${s}.${s}`, 30],
  ['a webhook address', (s) => `https://hooks.slack.com/services/T0/B0/${s}`, 24],
  ['a key block', (s) => `-----BEGIN RSA PRIVATE KEY-----\n${s}\n-----END RSA PRIVATE KEY-----`, 64],
  ['a key block that is cut', (s) => `-----BEGIN PRIVATE KEY-----\n${s}`, 64],
];

test.each(SECRETS)('%s does not pass', (_name, place, length) => {
  for (let round = 0; round < 20; round += 1) {
    const secret = madeUp(length);
    const text = place(secret);
    const redactor = createRedactor({ workspaceRoot: WORKSPACE });
    const redacted = redactor.redact(text);
    expect(redacted, text).not.toContain(secret);
    expect(redacted, text).not.toContain(secret.slice(2, -2));
    expect(redactor.maskedCount, text).toBeGreaterThan(0);
  }
});

test.each(['password: 48151623', 'DB_PASSWORD=48151623', '{"password":"48151623"}', '--password 48151623'])(
  'a password of digits does not pass: %s',
  (text) => {
    expect(redact(text)).not.toContain('48151623');
  },
);

test('a secret the agent knows is masked wherever it stands', () => {
  const secret = madeUp(18);
  expect(redact(`it says ${secret}, twice: ${secret}`, [secret])).toBe('it says [secret], twice: [secret]');
});

test.each([
  ['a home', 'see /home/bob/.ssh/id_rsa here', 'see [path] here'],
  ['a sibling with the same beginning', `${WORKSPACE}-old/x.ts`, '[path]'],
  ['a system file', 'cat /etc/passwd.', 'cat [path].'],
  ['a temporary file', 'wrote "/tmp/a b"', 'wrote "[path] b"'],
  ['a Mac home', '/Users/ann/Library/Keys', '[path]'],
  ['a list of paths', 'PATH=/usr/local/bin:/home/ann/bin', 'PATH=[path]:[path]'],
  ['an option of a compiler', 'cc -L/home/ann/lib', 'cc -L[path]'],
  ['a file address', 'file:///home/ann/secret.txt', '[path]'],
  ['a short home', 'open ~/.aws/credentials', 'open [path]'],
  ['a drive', 'C:\\Users\\ann\\keys.txt', '[path]'],
  ['a private directory', '/data/stint/stint.db', '[path]'],
  ['a path that climbs out', `${WORKSPACE}/../other/x`, '[path]'],
  ['a slash too many', 'see //home/ann/x', 'see /[path]'],
  ['a path behind an escaped line break', '"a\\n/home/bob/x"', '"a\\n[path]"'],
])('a path outside the workspace is masked: %s', (_name, text, expected) => {
  expect(redact(text)).toBe(expected);
});

test.each([
  [`${WORKSPACE}/src/sum.js:12:5`, 'src/sum.js:12:5'],
  [`in ${WORKSPACE}.`, 'in ..'],
  [`cd ${WORKSPACE} && ls`, 'cd . && ls'],
  [`"${WORKSPACE}/"`, '"."'],
])('a path inside the workspace becomes relative: %s', (text, expected) => {
  expect(redact(text)).toBe(expected);
});

const ORDINARY = [
  'The budget is 2 000 000 tokens; maxTokens: 2000000, MAX_TOKENS=4096.',
  'expected 3 to equal 4\n    at Object.sum (src/sum.test.js:4:10)',
  'const token = lexer.next();\nif (token.kind === Token.Identifier) return parse(token);',
  'password: string;\n  readonly apiKey: string | undefined;',
  'const { password } = req.body;\nconst secret = process.env.SESSION_SECRET;',
  'The password must have at least 12 characters.',
  'Set OPENAI_API_KEY to your key, for example OPENAI_API_KEY=<key> or OPENAI_API_KEY=$KEY.',
  'GET /api/users and POST /items/42/messages, then </div> and 1/2 or and/or.',
  'import { x } from "@/lib/utils"; import y from "../home/y.js"; src/home/index.ts',
  'See https://example.com/docs/start#',
  'git@github.com:owner/repo.git',
  'basic idea: bearer of news; a basic assumption',
  'Keyboard: press any key: Enter',
  'commit 3f2a9c1d8e7b6a5f4e3d2c1b0a9f8e7d6c5b4a39',
  '0198f6b2-7c3e-7d41-9a55-2f6f1b0c9d10',
  'use #!/usr/bin/env node and 2>/dev/null',
  'task-runner risk-assessment-for-the-quarter ask-someone',
  'primaryKey: id, foreignKey: user_id, keys: 12',
  'token count: 1234, tokens=99, api_key: 12345678 bytes',
  'sk-learn',
  'mask-image-of-the-whole-page',
  'Ünïcode 漢字 😀 \u0000 stays',
  '',
];

test.each(ORDINARY)('ordinary text passes unharmed: %s', (text) => {
  expect(redact(text)).toBe(text);
});

test('redacting again changes nothing', () => {
  for (const [, place, length] of SECRETS) {
    const once = redact(place(madeUp(length)));
    expect(redact(once)).toBe(once);
  }
});

test('a long text of nothing is redacted in one pass, not slower and slower', () => {
  const started = performance.now();
  redact('a'.repeat(200_000));
  redact(`${'key'.repeat(40_000)}=`);
  redact('https://'.repeat(20_000));
  redact('/home'.repeat(40_000));
  redact('-----BEGIN PRIVATE KEY-----'.repeat(5_000));
  expect(performance.now() - started).toBeLessThan(20_000);
});

/** The ```ts blocks of a README, in order. */
export function examplesOf(readme: string): string[] {
  return [...readme.matchAll(/^```(?:ts|typescript)\n([\s\S]*?)^```/gm)].map(([, code = '']) => code);
}

/** What the README tells a reader to install, in all its `npm install` lines; empty when it has none. */
export function installsOf(readme: string): string[] {
  return [...readme.matchAll(/^npm install ([^#\n]*)/gm)].flatMap(([, words = '']) =>
    words.split(/\s+/).filter((word) => word !== '' && !word.startsWith('-')),
  );
}

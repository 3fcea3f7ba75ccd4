import { useState } from 'react';

const prefix = 'stint:draft:';

/**
 * What a person is typing, kept over a reload until it was handed over. `key` names the place, so that no draft shows up elsewhere. Where the browser
 * keeps nothing (it may be told to, or be full) the text lives as long as the page.
 */
export function useDraft(key: string): readonly [text: string, keep: (text: string) => void] {
  const [text, setText] = useState(() => stored(() => sessionStorage.getItem(prefix + key)) ?? '');
  const keep = (next: string): void => {
    setText(next);
    if (next === '') stored(() => sessionStorage.removeItem(prefix + key));
    else stored(() => sessionStorage.setItem(prefix + key, next));
  };
  return [text, keep];
}

function stored<T>(use: () => T): T | null {
  try {
    return use();
  } catch {
    return null; // the page works without it
  }
}

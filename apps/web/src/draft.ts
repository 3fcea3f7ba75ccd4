import { useState } from 'react';

const prefix = 'stint:draft:';

/** What a person is typing, kept over a reload until it was handed over. `key` names the place, so that no draft shows up elsewhere. */
export function useDraft(key: string): readonly [text: string, keep: (text: string) => void] {
  const [text, setText] = useState(() => sessionStorage.getItem(prefix + key) ?? '');
  const keep = (next: string): void => {
    setText(next);
    if (next === '') sessionStorage.removeItem(prefix + key);
    else sessionStorage.setItem(prefix + key, next);
  };
  return [text, keep];
}

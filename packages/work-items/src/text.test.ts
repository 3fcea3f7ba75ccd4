import { describe, expect, it } from 'vitest';
import { cutText } from './text.js';

const bytesOf = (text: string): number => new TextEncoder().encode(text).length;

describe('a cut text', () => {
  it('holds no part of a word that the cut would split, wherever it falls', () => {
    const secret = `made-up_${Math.random().toString(36).slice(2)}/key+Ü=`;
    const text = `The key ${secret} was refused by the provider.`;
    for (let maxBytes = 4; maxBytes < bytesOf(text); maxBytes += 1) {
      const cut = cutText(text, maxBytes);
      expect(bytesOf(cut)).toBeLessThanOrEqual(maxBytes);
      expect(cut.endsWith('…')).toBe(true);
      expect(text.startsWith(cut.slice(0, -1))).toBe(true);
      if (!cut.includes(secret)) expect('The key …'.startsWith(cut.slice(0, -1)), cut).toBe(true);
    }
  });

  it('keeps the last word that fits whole, and all characters of scripts without spaces', () => {
    expect(cutText('one two three', 10)).toBe('one two…');
    expect(cutText('日本語のテキスト', 12)).toBe('日本語…');
    expect(cutText('\uFEFFone two', 9)).toBe('\uFEFFone…');
  });

  it('of one endless word is the mark alone', () => {
    expect(cutText('x'.repeat(300), 200)).toBe('…');
  });

  it('is the text itself when that fits', () => {
    expect(cutText('one two', 7)).toBe('one two');
  });
});

import { describe, expect, it } from 'vitest';
import { fieldText, shownLine } from '../../src/replay/entries/field-text.ts';

function textOf(text: string): string {
  const bytes = Buffer.from(`"${text}"`);
  return fieldText(bytes, 1, bytes.length - 1);
}

describe('fieldText', () => {
  it.each([
    ['/orders', '/orders'],
    ['Zoë', 'Zoë'],
    [String.raw`a\"b\\c`, String.raw`a"b\c`],
    [String.raw`Zo\u00eb`, 'Zoë'],
    [String.raw`\x22quoted\x22`, '"quoted"'],
    [String.raw`Zoë\x2F`, 'Zoë/'],
    [String.raw`\xzz\q`, String.raw`\xzz\q`],
    ['', ''],
  ])('resolves the escapes and the UTF-8 of %s', (raw, text) => {
    expect(textOf(raw)).toBe(text);
  });
});

describe('shownLine', () => {
  it('shows nothing that changes a terminal, and cuts what is longer than 160 characters', () => {
    const hostile = Buffer.from('a\u001B[31m\u0085\u202E"\n');
    expect(shownLine(hostile, 0, hostile.length)).toBe(String.raw`a\u001b[31m\u0085\u202e"\n`);
    const long = Buffer.alloc(400, 'x');
    expect(shownLine(long, 0, 400)).toBe(`${'x'.repeat(160)} …`);
    expect(shownLine(long, 0, 160)).toBe('x'.repeat(160));
  });
});

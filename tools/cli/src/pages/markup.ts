// The room pages: markup with escaped text, the frame and the style of pages, charts, tables.

/** What a template may contain: text, which is escaped, and markup, which is not. */
export type Content = string | number | Markup | readonly Content[];

/** HTML or SVG. Text of a log becomes a part of it through {@link markup} only, which escapes it. */
export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A template of HTML: the values in it are escaped, in attributes with double quotes too. Lists are joined. */
export function markup(parts: TemplateStringsArray, ...values: readonly Content[]): Markup {
  return new Markup(parts.reduce((text, part, i) => text + written(values[i - 1]!) + part));
}

/** Markup without anything in it. */
export const NOTHING: Markup = new Markup('');

function written(value: Content): string {
  if (value instanceof Markup) return value.text;
  return typeof value === 'object' ? value.map(written).join('') : escaped(String(value));
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

// oxlint-disable-next-line no-control-regex -- they are what must not be written
const UNSEEN = /[\u0000-\u001F\u007F-\u009F\u061C\u200B-\u200F\u2028-\u202E\u2060-\u206F\uFEFF]/g;

function escaped(text: string): string {
  return seen(text).replace(/[&<>"']/g, (char) => ENTITIES[char]!);
}

/** Returns JSON for a `<script type="application/json">`. No text in it can end the element. */
export function jsonMarkup(value: unknown): Markup {
  return new Markup(seen(JSON.stringify(value)).replaceAll('<', String.raw`\u003c`));
}

/** Shows characters by their codes, as JSON writes them, that can't be seen or change the direction of the text. */
function seen(text: string): string {
  return text.replace(UNSEEN, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

import { button, element } from './element.ts';

/** A text with a button that copies it. */
export function copiedText(label: string): { readonly element: HTMLElement; show(text: string): void } {
  const shown = element('pre', { tabindex: '0', 'aria-label': label });
  const done = element('span', { role: 'status', class: 'hint' });
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(shown.textContent ?? '');
      done.textContent = 'Copied.';
    } catch {
      // No permission, or no secure context: the text is selected instead.
      getSelection()?.selectAllChildren(shown);
      done.textContent = 'Selected: copy it with Ctrl+C.';
    }
  };
  const press = button(`Copy ${label}`, () => void copy());
  return {
    element: element(
      'section',
      { class: 'copied' },
      element('p', { class: 'row' }, element('strong', {}, label), press, done),
      shown,
    ),
    show(text) {
      if (shown.textContent === text) return;
      shown.textContent = text;
      done.textContent = '';
    },
  };
}

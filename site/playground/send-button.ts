import { element } from './element.ts';

const REPEAT_MS = 100;

/** A button that sends once when it is pressed, and again while it is held, by pointer or by keyboard. */
export function sendButton(send: () => void): HTMLButtonElement {
  const made = element('button', { type: 'button', class: 'send' }, 'Send a request');
  let timer: ReturnType<typeof setInterval> | undefined;
  const release = (): void => {
    clearInterval(timer);
    timer = undefined;
  };
  const press = (): void => {
    if (timer !== undefined) return;
    send();
    timer = setInterval(send, REPEAT_MS);
  };
  let isHandled = false;
  made.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    isHandled = true;
    press();
  });
  for (const end of ['pointerup', 'pointercancel', 'pointerleave', 'blur']) made.addEventListener(end, release);
  made.addEventListener('keydown', ({ key }) => {
    if (key !== ' ' && key !== 'Enter') return;
    isHandled = true;
    press();
  });
  made.addEventListener('keyup', release);
  made.addEventListener('contextmenu', (event) => event.preventDefault());
  // Assistive technology clicks without a pointer or a key.
  made.addEventListener('click', () => {
    if (!isHandled) send();
    isHandled = false;
  });
  return made;
}

import { Bucket, BURST } from './bucket.ts';

/** What a server answers, by the tokens that are left, and to a denied request. */
export interface Answers {
  readonly allowed: readonly string[];
  readonly denied: string;
}

/**
 * Lets the button of the page send requests: to a bucket that fills again while one looks at it.
 *
 * @param root - Has the elements of site/index.md.
 * @returns A function that ends it.
 */
export function mount(root: HTMLElement, answers: Answers): () => void {
  const find = (selector: string): Element => root.querySelector(selector)!;
  const [water, tokens] = [find('.water'), find('.tokens')];
  const [which, answer] = [find('.which'), find('.answer')];
  const bucket = new Bucket();
  let frame = 0;

  const draw = (): void => {
    const left = bucket.tokensAt(performance.now());
    water.setAttribute('transform', `scale(1 ${left / BURST})`);
    tokens.textContent = `${Math.floor(left)} of ${BURST} tokens`;
    if (left < BURST) frame = requestAnimationFrame(draw);
  };
  const send = (): void => {
    const left = bucket.send(performance.now());
    answer.textContent = left === null ? answers.denied : (answers.allowed[left] ?? '');
    which.textContent = left === null ? 'Your last request was denied:' : 'Your last request passed:';
    answer.classList.toggle('denied', left === null);
    cancelAnimationFrame(frame);
    draw();
  };

  const button = find('.send');
  button.addEventListener('click', send);
  return () => {
    button.removeEventListener('click', send);
    cancelAnimationFrame(frame);
  };
}

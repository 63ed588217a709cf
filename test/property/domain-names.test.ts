import { domainToASCII } from 'node:url';
import { SluiceError } from '@sluice/core';
import { domain, fqdnSet, registrableDomain } from '@sluice/domains';
import fc from 'fast-check';
import { expect, test } from 'vitest';

const formats = [domain().format, fqdnSet().format, domain(undefined, { underscores: true }).format];

/** What a text becomes, or `undefined` where it is refused as a client's fault. Any other error fails the test. */
function idOf(canonical: (text: string) => string, text: string): string | undefined {
  try {
    return canonical(text);
  } catch (error) {
    if (error instanceof SluiceError && error.code === 'ERR_ID' && error.status === 400) return undefined;
    throw error;
  }
}

const SUFFIXES = ['com', 'co.uk', 'uk.com', 'github.io', 'c.kobe.jp', '公司.cn', '中国', 'unlisted'];
// No label of the list starts so: one more label before a suffix is then never a suffix too.
const ownLabel = fc.stringMatching(/^q0[a-zäöüßçñ食狮0-9]{0,8}$/);
const registered = fc.record({ label: ownLabel, suffix: fc.constantFrom(...SUFFIXES) });
const subdomains = fc.array(fc.stringMatching(/^[a-z0-9éü]{1,6}$/), { maxLength: 3 });

/** One of the ways to write a name. */
function spelling(name: string): fc.Arbitrary<string> {
  const wide = (letter: string): string => String.fromCharCode(letter.charCodeAt(0) + 0xfee0);
  const ways: ((character: string) => string)[] = [
    (character) => character,
    (character) => (character === 'ß' ? character : character.toUpperCase()),
    (character) => character.normalize('NFD'),
    (character) => (/[a-z0-9]/.test(character) ? wide(character) : character),
    (character) => `\u00ad${character}`,
  ];
  const dots = fc.constantFrom('.', '.', '。', '．', '｡');
  const characters = [...name].map((character) =>
    character === '.' ? dots : fc.constantFrom(...ways).map((way) => way(character)),
  );
  const mixed = fc.tuple(...characters, fc.constantFrom('', '.', '。')).map((parts) => parts.join(''));
  return fc.oneof(mixed, fc.constant(domainToASCII(name)), fc.constant(domainToASCII(name).toUpperCase()));
}

const nameLike = fc.string({
  unit: fc.constantFrom(...'aZ09-_..,:/@?#[]% *%2exn--äßＡ１。．｡，\u00ad\u200b\u0301\u0000\t\n\ud83d'.split('')),
  maxLength: 40,
});
const anything = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), nameLike);

test('any text is an id or rejected as the client’s error, and the id of an id is that id', () => {
  fc.assert(
    fc.property(anything, fc.constantFrom(...formats), (text, format) => {
      const id = idOf((given) => format.canonical(given), text);
      fc.pre(id !== undefined);
      expect(format.canonical(id)).toBe(id);
    }),
  );
});

test('an id has only lower-case letters, digits, hyphens and dots, and is its own registrable domain', () => {
  fc.assert(
    // By themselves few of them are more than a single label.
    fc.property(anything, fc.constantFrom('', '.com', '.unlisted'), (beginning, end) => {
      const id = idOf(registrableDomain, beginning + end);
      fc.pre(id !== undefined);
      expect(id).toMatch(/^[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63})*$/);
      expect(registrableDomain(id)).toBe(id);
    }),
  );
});

test('any two spellings of any two names of one registered domain have one bucket', () => {
  const twoNames = fc.tuple(registered, subdomains, subdomains).chain(([{ label, suffix }, ...both]) => {
    const [one, other] = both.map((below) => spelling([...below, label, suffix].join('.')));
    return fc.record({ own: fc.constant(`${label}.${suffix}`), one: one!, other: other! });
  });
  fc.assert(
    fc.property(twoNames, ({ own, one, other }) => {
      expect(registrableDomain(one)).toBe(domainToASCII(own));
      expect(registrableDomain(other)).toBe(domainToASCII(own));
    }),
  );
});

test('two registered domains never have one bucket', () => {
  const named = fc
    .tuple(registered, subdomains)
    .chain(([{ label, suffix }, below]) =>
      spelling([...below, label, suffix].join('.')).map((text) => ({ text, own: domainToASCII(`${label}.${suffix}`) })),
    );
  fc.assert(
    fc.property(named, named, (one, other) => {
      expect(registrableDomain(one.text) === registrableDomain(other.text)).toBe(one.own === other.own);
    }),
  );
});

test('a name of ASCII is what the URL standard makes of it', () => {
  const label = fc.stringMatching(/^[A-Za-z0-9](?:[A-Za-z0-9-]{0,20}[A-Za-z0-9])?$/);
  const names = fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => [...labels, 'Unlisted'].join('.'));
  fc.assert(
    fc.property(names, (name) => {
      // Versions of Node differ in which labels that start with xn-- they take for A-labels.
      fc.pre(!/xn--/i.test(name));
      expect(domainToASCII(name).endsWith(registrableDomain(name))).toBe(true);
    }),
  );
});

test('a set is the same in any order, spelling and repetition, and never that of other names', () => {
  const { format } = fqdnSet();
  const names = fc.uniqueArray(
    registered.map(({ label, suffix }) => `${label}.${suffix}`),
    { minLength: 1, maxLength: 6, selector: (name) => domainToASCII(name) },
  );
  const listed = names.chain((set) =>
    fc
      .tuple(fc.shuffledSubarray(set, { minLength: set.length }), fc.array(fc.constantFrom(...set), { maxLength: 3 }))
      .chain(([all, again]) => fc.tuple(...[...all, ...again].map(spelling)))
      .map((spelt) => ({ text: spelt.join(','), set: new Set(set.map((name) => domainToASCII(name))) })),
  );
  fc.assert(
    fc.property(listed, listed, (one, other) => {
      const isSame = one.set.size === other.set.size && [...one.set].every((name) => other.set.has(name));
      expect(format.canonical(one.text) === format.canonical(other.text)).toBe(isSame);
      expect(format.canonical(one.text)).toBe(format.canonical([...one.set].join(',')));
    }),
  );
});

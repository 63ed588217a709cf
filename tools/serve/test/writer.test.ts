import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ProtoReader } from '../src/protobuf/reader.ts';
import { ProtoWriter } from '../src/protobuf/writer.ts';

type Value = number | string | { readonly fields: readonly Field[] };
type Field = readonly [field: number, value: Value];

const { message } = fc.letrec<{ readonly message: readonly Field[]; readonly field: Field; readonly value: Value }>(
  (tie) => ({
    message: fc.array(tie('field'), { maxLength: 6 }),
    field: fc.tuple(fc.integer({ min: 1, max: 3000 }), tie('value')),
    value: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.oneof(fc.maxSafeNat(), fc.integer({ min: 0, max: 300 })),
      fc.oneof(fc.string({ unit: 'binary', maxLength: 80 }), fc.string({ unit: 'grapheme-ascii', maxLength: 200 })),
      fc.record({ fields: tie('message') }),
    ),
  }),
);

/** The bytes of a message, by the definition of the format: slow and obvious. */
function bytesOf(fields: readonly Field[]): number[] {
  return fields.flatMap(([field, value]) => {
    if (value === 0 || value === '') return [];
    if (typeof value === 'number') return [...varint(field * 8), ...varint(value)];
    const content = typeof value === 'string' ? [...Buffer.from(value)] : bytesOf(value.fields);
    return [...varint(field * 8 + 2), ...varint(content.length), ...content];
  });
}

function varint(value: number): number[] {
  return value < 0x80 ? [value] : [(value % 0x80) | 0x80, ...varint(Math.floor(value / 0x80))];
}

function write(writer: ProtoWriter, fields: readonly Field[]): void {
  for (const [field, value] of fields) {
    if (typeof value === 'number') writer.uint(field, value);
    else if (typeof value === 'string') writer.text(field, value);
    else {
      const begin = writer.beginMessage(field);
      write(writer, value.fields);
      writer.endMessage(begin);
    }
  }
}

function written(fields: readonly Field[], headroom = 0): Buffer {
  const writer = new ProtoWriter(headroom);
  write(writer, fields);
  return writer.finish();
}

test('random messages have the bytes of the format, behind their headroom', () => {
  const isRight = (fields: readonly Field[]): void => {
    expect([...written(fields, 5).subarray(5)]).toEqual(bytesOf(fields));
  };
  fc.assert(fc.property(message, isRight), { numRuns: 2000 });
});

test('messages that are written one after the other, or while another is, do not touch each other', () => {
  const texts = Array.from({ length: 400 }, (_, i): Field => [1, String(i).repeat(1 + (i % 90))]);
  const all = texts.map((field) => written([field, field]));
  const outer = new ProtoWriter();
  outer.text(1, 'outer');
  const inner = written([[1, 'inner']]);
  outer.text(2, 'more');
  expect([...outer.finish()]).toEqual(
    bytesOf([
      [1, 'outer'],
      [2, 'more'],
    ]),
  );
  expect([...inner]).toEqual(bytesOf([[1, 'inner']]));
  for (const [i, bytes] of all.entries()) expect([...bytes]).toEqual(bytesOf([texts[i]!, texts[i]!]));
});

test('a message that is larger than any piece of memory is written whole, with the lengths of the messages in it', () => {
  const long = 'x'.repeat(70_000);
  const fields: readonly Field[] = [
    [
      1,
      {
        fields: [
          [2, long],
          [3, { fields: [[4, `${long}ü`]] }],
          [5, 7],
        ],
      },
    ],
  ];
  expect(written(fields).equals(Buffer.from(bytesOf(fields)))).toBe(true);
});

test('a message that a broken writer left behind does not damage the next one', () => {
  new ProtoWriter(5).text(1, 'never finished');
  expect([...written([[1, 'next']])]).toEqual(bytesOf([[1, 'next']]));
});

test('a text of ASCII that turns out not to be is written once', () => {
  const reader = new ProtoReader(
    written([
      [1, 'abcdefü'],
      [2, 'ghi'],
    ]),
  );
  const texts: string[] = [];
  while (reader.next()) texts.push(reader.text());
  expect(texts).toEqual(['abcdefü', 'ghi']);
});

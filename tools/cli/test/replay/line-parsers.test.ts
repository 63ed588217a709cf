import { describe, expect, it } from 'vitest';
import { JsonParser } from '../../src/replay/formats/json-parser.ts';
import type { LineParser } from '../../src/replay/formats/line-parser.ts';
import { PRESETS } from '../../src/replay/formats/presets.ts';
import { TemplateFormat } from '../../src/replay/formats/template.ts';
import { LineSplitter } from '../../src/replay/reading/line-splitter.ts';

/** The values of fields 0 to `count` - 1, null for those that the line does not have; `undefined` for another format. */
function values(parser: LineParser, line: string, count: number): (string | null)[] | undefined {
  const [bytes, spans] = [Buffer.from(`\n${line}\n`), new Int32Array(2 * count)];
  if (!parser.parse(bytes, 1, bytes.length - 1, spans)) return undefined;
  return Array.from({ length: count }, (_, i) =>
    spans[2 * i] === -1 ? null : bytes.toString('utf8', spans[2 * i], spans[2 * i + 1]),
  );
}

describe('JsonParser', () => {
  const parser = new JsonParser([['a.b', 'c'], ['d']]);

  it.each([
    ['{}', [null, null]],
    [' { "d" : 1 , "c" : "x" } ', ['x', '1']],
    ['{"c":"late","a":{"b":"early"}}', ['early', null]],
    ['{"a":{"b":"early"},"c":"late"}', ['early', null]],
    ['{"a":{},"a.b":7}', ['7', null]],
    ['{"a":[],"c":["first","second"],"d":[]}', ['first', null]],
    ['{"a":1,"c":{"b":1},"d":[[1,"]"],2]}', [null, '[1,"]"]']],
    ['{"c":"-","d":null}', [null, null]],
    ['{"c":"","d":"-1"}', [null, '-1']],
    [String.raw`{"c":"\"}","x":{"y":["\\"]},"d":true}`, [String.raw`\"}`, 'true']],
  ])('finds the values of %s', (line, expected) => {
    expect(values(parser, line, 2)).toEqual(expected);
  });

  it.each([
    '',
    '[]',
    'null',
    '{',
    '{"d":1',
    '{"d":1,',
    '{"d":}',
    '{"d" 1}',
    '{d:1}',
    '{"d',
    '{"d":"x}',
    String.raw`{"d":"x\"}`,
    '{"x":{"y":"}',
    '{"x":{"y":[1}',
    '{"a":{"b":1}',
    '{"d":[}}',
    '{"d":[,1]}',
    '{"d":["x}]}',
    '{"a":{"b":1 2}}',
    '{"d":1}{"d":2}',
  ])('returns that %s is not an object of JSON', (line) => {
    expect(values(parser, line, 2)).toBeUndefined();
  });

  it.each([
    ['{"c":"late"}', ['c', undefined]],
    ['{"c":"late","a":{"b":"early"},"d":1}', ['a.b', 'd']],
    ['{"a.b":"early","c":"late"}', ['a.b', undefined]],
    ['{}', [undefined, undefined]],
  ])('has the paths of the values of %s', (line, expected) => {
    values(parser, line, 2);
    expect([parser.sourceOf(0), parser.sourceOf(1)]).toEqual(expected);
  });

  it('finds a value for each of the fields that have its path, the first path of each', () => {
    const shared = new JsonParser([['ip', 'x'], ['ip'], ['x', 'ip'], ['y']]);
    expect(values(shared, '{"ip":"a"}', 4)).toEqual(['a', 'a', 'a', null]);
    expect(values(shared, '{"ip":"a","x":"b"}', 4)).toEqual(['a', 'a', 'b', null]);
    expect(values(shared, '{"x":"b","ip":"a"}', 4)).toEqual(['a', 'a', 'b', null]);
  });

  it('does not run out of stack on objects in objects, of which it reads 16', () => {
    const nested = (depth: number): string => `${'{"x":'.repeat(depth)}1${'}'.repeat(depth)}`;
    const deep = new JsonParser([[Array.from({ length: 40 }, () => 'x').join('.')]]);
    expect(values(deep, nested(40), 1)).toEqual([null]);
    expect(values(deep, nested(10_000), 1)).toEqual([null]);
    expect(values(new JsonParser([['x.x.x']]), nested(3), 1)).toEqual(['1']);
  });
});

describe('TemplateFormat', () => {
  const format = new TemplateFormat('log_format', '<${remote_addr}> "$request" $status $http_x_api_key;$upstream');
  const parser = format.parser(['address', 'request', 'status', 'header:x-api-key']);

  it.each([
    ['<1.2.3.4> "GET /" 200 k;rest', ['1.2.3.4', 'GET /', '200', 'k']],
    ['<-> "" - k;', [null, null, null, 'k']],
    [String.raw`<a> "GET \"/ \\" 200 k;`, ['a', String.raw`GET \"/ \\`, '200', 'k']],
    ['<a> "GET" 200 key', undefined],
    ['<a> "GET', undefined],
    ['<', undefined],
    ['x', undefined],
  ])('finds the values of %s', (line, expected) => {
    expect(values(parser, line, 4)).toEqual(expected);
  });

  it.each([
    ['23/Nov/2026:13:05:59 +0000|1795439159.5|', ['$msec', undefined]],
    ['23/Nov/2026:13:05:59 +0000|-|7', ['$time_local', '$status']],
    ['-|-|7', [undefined, '$status']],
  ])('has the names of the log for the fields of %s', (line, expected) => {
    const two = new TemplateFormat('log_format', '$time_local|$msec|$status').parser(['time', 'status']);
    values(two, line, 2);
    expect([two.sourceOf(0), two.sourceOf(1)]).toEqual(expected);
  });
});

describe('PRESETS', () => {
  it('find a header as each format writes it', () => {
    const lines = {
      caddy: '{"request":{"headers":{"X-Api-Key":["k"]}}}',
      traefik: '{"request_X-Api-Key":"k"}',
      pino: '{"req":{"headers":{"x-api-key":"k"}}}',
      json: '{"headers":{"x-api-key":"k"}}',
    };
    for (const [name, line] of Object.entries(lines)) {
      const parser = PRESETS.find((format) => format.name === name && format.isJson)!.parser([
        'header:x-api-key',
        'json:a',
      ]);
      expect([name, values(parser, line, 2)]).toEqual([name, ['k', null]]);
    }
    const envoy = PRESETS.find(({ name, isJson }) => name === 'envoy' && isJson)!;
    expect(values(envoy.parser(['header:x-api-key']), '{"headers":{"x-api-key":"k"}}', 1)).toEqual([null]);
  });
});

describe('the headers of a format', () => {
  it('are those that it names itself', () => {
    const template = new TemplateFormat('log_format', '$remote_addr "$http_x_tenant" $status "$http_user_agent"');
    expect(template.headers).toEqual(['header:x-tenant', 'header:user-agent']);
    const envoy = PRESETS.find(({ name, isJson }) => name === 'envoy' && isJson)!;
    expect(envoy.headers).toEqual(['header:x-forwarded-for', 'header:user-agent']);
  });
});

describe('LineSplitter', () => {
  it.each([7, 1000, 1_000_000])('finds the lines of chunks of %d bytes, and reports those above 64 KiB', (size) => {
    const found: (string | number)[] = [];
    const splitter = new LineSplitter({
      line: (bytes, start, end) => found.push(end - start > 10 ? end - start : bytes.toString('latin1', start, end)),
      longLine: () => found.push('long'),
    });
    const text = Buffer.from(`a\r\n\n\r\n${'b'.repeat(65_536)}\n${'c'.repeat(65_537)}\nd\n${'e'.repeat(70_000)}\nf`);
    for (let at = 0; at < text.length; at += size) splitter.push(text.subarray(at, at + size));
    splitter.end();
    splitter.end();
    expect(found).toEqual(['a', 65_536, 'long', 'd', 'long', 'f']);
  });
});

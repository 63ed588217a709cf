import { describe, expect, test } from 'vitest';
import { readSlotMap } from '../../src/node-redis/slot-map.ts';

const HERE = { host: '10.0.0.1', natMap: undefined };

describe('the slot map that a node reports', () => {
  test('names the primary of each slot, and all nodes', () => {
    const reply = [
      [0, 1, ['10.0.0.1', 7001, 'id', []], ['10.0.0.2', 7002, 'id']],
      [3, 3, ['::1', 7003]],
    ];
    const { nodes, primaries, primaryOf } = readSlotMap(reply, HERE);
    expect([...nodes]).toEqual(['10.0.0.1:7001', '10.0.0.2:7002', '::1:7003']);
    expect([...primaries]).toEqual(['10.0.0.1:7001', '::1:7003']);
    expect([0, 1, 2, 3].map((slot) => primaryOf[slot])).toEqual([
      '10.0.0.1:7001',
      '10.0.0.1:7001',
      undefined,
      '::1:7003',
    ]);
  });

  test.each([[''], [null]])('has the host of the node that answered where the host is %j', (host) => {
    expect(readSlotMap([[0, 0, [host, 7001]]], HERE).primaryOf[0]).toBe('10.0.0.1:7001');
  });

  test('has the addresses that the user maps to', () => {
    const natMap = { '10.0.0.1:7001': { host: 'outside', port: 1 } };
    const { nodes, primaryOf } = readSlotMap([[0, 0, ['10.0.0.1', 7001], ['10.0.0.2', 7002]]], { ...HERE, natMap });
    expect(primaryOf[0]).toBe('outside:1');
    expect([...nodes]).toEqual(['outside:1', '10.0.0.2:7002']);
  });

  test('without a slot is an error: the node belongs to no cluster', () => {
    expect(() => readSlotMap([], HERE)).toThrow('The node knows no hash slots');
  });
});

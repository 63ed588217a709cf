import { Get } from '@nestjs/common';
import { Limits, Unlimited } from '@sluice/nestjs';
import { expect, test } from 'vitest';
import { limitsOfHandler } from '../src/decorators.ts';

@Limits('OfClass')
class Limited {
  plain(): void {}

  @Limits('First', { limit: 'Second', cost: 2 })
  added(): void {}

  @Limits('First')
  @Get()
  @Limits('Second')
  twice(): void {}

  @Limits({ limit: 'OfModule', cost: 5 })
  again(): void {}

  @Unlimited()
  free(): void {}

  @Unlimited('OfModule')
  @Unlimited('OfClass')
  @Limits('Own')
  own(): void {}

  @Unlimited('OfModule')
  @Unlimited()
  all(): void {}
}

class Inherited extends Limited {
  @Limits('OfSubclass')
  fresh(): void {}
}

@Unlimited()
class Free {
  plain(): void {}

  @Limits('Own')
  own(): void {}
}

const limitsOf = (type: { readonly prototype: object }, method: string) =>
  limitsOfHandler(['OfModule'], [type, (type.prototype as Record<string, object>)[method]!]);

test.each([
  ['plain', ['OfModule', 'OfClass']],
  ['added', ['OfModule', 'OfClass', 'First', { limit: 'Second', cost: 2 }]],
  ['twice', ['OfModule', 'OfClass', 'First', 'Second']],
  ['again', [{ limit: 'OfModule', cost: 5 }, 'OfClass']],
  ['free', []],
  ['own', ['Own']],
  ['all', []],
])('the limits add up from the module to the handler: %s', (method, limits) => {
  expect(limitsOf(Limited, method)).toEqual(limits);
});

test('a class has the limits of the class that it extends', () => {
  expect(limitsOf(Inherited, 'plain')).toEqual(['OfModule', 'OfClass']);
  expect(limitsOf(Inherited, 'fresh')).toEqual(['OfModule', 'OfClass', 'OfSubclass']);
});

test('the handlers of a class without limits have only their own', () => {
  expect(limitsOf(Free, 'plain')).toEqual([]);
  expect(limitsOf(Free, 'own')).toEqual(['Own']);
});

test('@Limits without a limit is an error', () => {
  expect(() => Limits()).toThrow(/`@Limits` must be given at least one limit.*@Unlimited\(\)/);
});

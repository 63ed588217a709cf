import type { DynamicModule, FactoryProvider, ModuleMetadata, Provider } from '@nestjs/common';
import { APP_FILTER, ApplicationConfig, ModulesContainer } from '@nestjs/core';
import type { Awaitable } from '@sluice/core';
import { HandlerLimits, type RateLimitModuleOptions } from './handler-limits.ts';
import { RateLimitFilter } from './rate-limit-filter.ts';
import { HANDLER_ADMISSION, RateLimitGuard } from './rate-limit-guard.ts';

/** The options of `RateLimitModule.forRootAsync`. */
export interface RateLimitModuleAsyncOptions extends Pick<ModuleMetadata, 'imports'> {
  /** What Nest calls the factory with. */
  readonly inject?: FactoryProvider['inject'] | undefined;
  /** Returns the options of `forRoot`, or a promise of them. */
  readonly useFactory: (...args: never[]) => Awaitable<RateLimitModuleOptions>;
}

/**
 * The token of the options, to replace them in a test:
 *
 *     Test.createTestingModule({ imports: [AppModule] })
 *       .overrideProvider(RATE_LIMIT_OPTIONS)
 *       .useValue({ count: 2, period: '1m', time });
 */
export const RATE_LIMIT_OPTIONS: unique symbol = Symbol('@sluice/nestjs: options');

/**
 * Limits the handlers of an application that its {@link RateLimitGuard} guards. Import it once; it is global.
 *
 *     @Module({
 *       imports: [RateLimitModule.forRoot({ count: 100, period: '1m' })],
 *       providers: [{ provide: APP_GUARD, useExisting: RateLimitGuard }],
 *     })
 *     class AppModule {}
 *
 * When the application starts, it checks the limits of all handlers: names that the limiter does not have, and handlers
 * with limits in a context without a resolver, are errors. It closes the limiter that it made when the application shuts
 * down.
 */
export class RateLimitModule {
  /**
   * Takes the options of `rateLimit` in the other packages, and `contexts`. Its `limits` apply to every handler; with
   * `limits: []` only those of `@Limits` apply. Its `limiter` may be the options of one, which the module then makes.
   *
   * A wrong option is an error when the application is made. The message names the option, the demand, the value and the
   * remedy.
   */
  static forRoot<Name extends string = string>(options: RateLimitModuleOptions<Name>): DynamicModule {
    return moduleOf([{ provide: RATE_LIMIT_OPTIONS, useValue: options }]);
  }

  /**
   * The same with options that are made when the application is, for example from a configuration.
   *
   *     RateLimitModule.forRootAsync({
   *       inject: [ConfigService],
   *       useFactory: (config: ConfigService) => ({ count: config.getOrThrow<number>('RATE'), period: '1m' }),
   *     })
   */
  static forRootAsync(asyncOptions: RateLimitModuleAsyncOptions): DynamicModule {
    const { imports = [], inject = [], useFactory } = asyncOptions;
    const options = { provide: RATE_LIMIT_OPTIONS, inject, useFactory: useFactory as FactoryProvider['useFactory'] };
    return { ...moduleOf([options]), imports };
  }
}

function moduleOf(options: Provider[]): DynamicModule {
  return {
    module: RateLimitModule,
    global: true,
    providers: [
      ...options,
      {
        provide: HANDLER_ADMISSION,
        inject: [RATE_LIMIT_OPTIONS, ModulesContainer, ApplicationConfig],
        useFactory: (given: RateLimitModuleOptions, modules: ModulesContainer, config: ApplicationConfig) =>
          new HandlerLimits(given, { modules, config }),
      },
      RateLimitGuard,
      { provide: APP_FILTER, useClass: RateLimitFilter },
    ],
    exports: [HANDLER_ADMISSION, RateLimitGuard],
  };
}

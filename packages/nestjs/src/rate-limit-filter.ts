import { Catch, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import { sendByPlatform } from './platform-exchange.ts';
import { denialOf, RateLimitException } from './rate-limit-exception.ts';

/**
 * Answers requests that were denied with problem details (RFC 9457). `RateLimitModule` registers it for the whole
 * application; a filter of yours that catches `RateLimitException`, or everything, comes before it.
 *
 * With guards of `rateLimit` alone, without the module: `app.useGlobalFilters(new RateLimitFilter())`.
 */
export class RateLimitFilter implements ExceptionFilter<RateLimitException> {
  /** Sends the denial. An exception of another context than HTTP is thrown on to it. */
  catch(exception: RateLimitException, host: ArgumentsHost): void {
    if (host.getType() !== 'http') throw exception;
    const { settings, denial } = denialOf(exception);
    sendByPlatform(settings, host.switchToHttp().getResponse<object>(), denial);
  }
}

Catch(RateLimitException)(RateLimitFilter);

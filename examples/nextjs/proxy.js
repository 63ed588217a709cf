import { NextResponse } from 'next/server';
import { limitRequests } from './lib/limits.js';

/** Denies a client that sends too many requests, before Next looks for a page or a route. */
export const proxy = limitRequests(() => NextResponse.next());

export const config = { matcher: '/api/:path*' };

// A peer without declarations of its own.
declare module 'koa-ratelimit' {
  export default function ratelimit(options: object): import('koa').Middleware;
}

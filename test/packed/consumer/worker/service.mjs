// A service that hangs when it is told to. A request that waits for nothing would be ended, so it waits for a timer.
let isHanging = false;

export default {
  async fetch(request) {
    const { pathname } = new URL(request.url);
    if (pathname === '/hang') isHanging = true;
    if (pathname === '/answer') isHanging = false;
    if (pathname === '/' && isHanging) await new Promise((resolve) => setTimeout(resolve, 60_000));
    return new Response('ok');
  },
};

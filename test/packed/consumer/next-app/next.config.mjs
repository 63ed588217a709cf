const packages = ['@sluice/core', '@sluice/fetch', '@sluice/redis', 'ioredis'];

export default process.env.SLUICE_EXTERNAL === 'yes' ? { serverExternalPackages: packages } : {};

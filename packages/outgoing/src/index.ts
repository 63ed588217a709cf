export * from './limited-fetch.ts';

/** Style sheets that a bundler takes out of a module. */
declare module '*.css';

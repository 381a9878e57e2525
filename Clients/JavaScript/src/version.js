// The build reads it from here for package.json's sake, and tests compare it with the server's.

export const version = '0.1.0';

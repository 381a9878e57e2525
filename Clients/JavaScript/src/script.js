// Where this file came from. In the file for classic scripts the build writes another line here.

export const scriptURL = import.meta.url;

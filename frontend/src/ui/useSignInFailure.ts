import { useEffect, useState } from "react";

/** The server sets it after a failed sign-in at an OpenID provider. */
const COOKIE = "arcadia_sign_in_failure";

/** Return why the sign-in failed from which the browser comes back. It is shown once. */
export function useSignInFailure() {
  const [reason] = useState(readFailure);
  useEffect(() => {
    document.cookie = `${COOKIE}=; Max-Age=0; Path=/; SameSite=Strict`;
  }, []);
  return reason;
}

function readFailure() {
  const cookie = document.cookie.split("; ").find((each) => each.startsWith(`${COOKIE}=`));
  return cookie && decodeURIComponent(cookie.slice(COOKIE.length + 1));
}

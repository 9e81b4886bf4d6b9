// expect: js-decode-and-run
new Function(Buffer.from("72657475726e2031", "hex").toString())();

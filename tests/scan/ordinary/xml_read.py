# Reads XML.
import xml.etree.ElementTree as ET

doc = ET.fromstring("<books><book year='1999'>A</book><book year='2005'>B</book></books>")
new = [book.text for book in doc.findall("book") if int(book.get("year")) > 2000]
print(new)
